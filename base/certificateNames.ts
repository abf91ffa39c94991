const quoted = /"(?:[^"\\]|\\.)*"/g;

/**
 * The URIs among a certificate's subject alternative names, of the text that Node makes of them. A name that holds a comma is quoted in
 * that text (CVE-2021-44532) and could pretend to be several: it is left out.
 */
export function uriNames(subjectAltName = ''): string[] {
  const names = subjectAltName.replaceAll(quoted, '').split(', ');
  return names.filter((name) => /^URI:./.test(name)).map((name) => name.slice('URI:'.length));
}
