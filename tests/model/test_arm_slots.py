"""Slots of arms: numbered as met, equal arms share one."""

import numpy as np

from evroute.model.arm_slots import ArmSlots


def test_arms_are_numbered_as_they_are_met_and_equal_ones_share_a_slot() -> None:
    slots = ArmSlots(2)
    edge = np.array([4, 2, 4, 4])
    features = np.array([[0.0, 1.0], [0.0, 1.0], [-0.0, 1.0], [0.5, 1.0]])
    new = slots.unmet(edge, features)
    np.testing.assert_array_equal(new, [0, 1, 3])
    slots.append(edge[new], features[new])
    assert len(slots) == 3
    np.testing.assert_array_equal(slots.of(edge, features), [0, 1, 0, 2])
    assert not len(slots.unmet(edge, features))
    np.testing.assert_array_equal(slots.id, [4, 2, 4])
