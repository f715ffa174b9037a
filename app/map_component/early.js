// Fetches the files of the map before the map is there: the page makes its plan meanwhile.

export default function ({ data }) {
  loadLeaflet();
  Object.values(data.addresses).forEach(fetched);
}
