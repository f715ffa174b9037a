"""Methods: models and indices by name, their options, and the setting they are built for."""
