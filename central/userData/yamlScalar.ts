/** Letters, digits and signs that mean nothing to YAML, not even within `[…]`; `:` only within a word. */
const plain = /^[A-Za-z0-9_./-](?:[A-Za-z0-9_./+=~-]|:(?=\S))*$/;
/** What YAML 1.1 or 1.2 reads as a number, a date, a truth value or nothing. */
const typed =
  /^(?:[-+.\d][\d_.,:eExobABCDEFabcdf+-]*|\d{4}-\d\d?-\d\d?\S*|~|null|true|false|yes|no|on|off|y|n|\.inf|\.nan|-|---.*|\.\.\.)$/i;

/** A single line as YAML writes it, also within a flow list: as it is where it is read as that text, else in single quotes. */
export function yamlScalar(text: string): string {
  if (plain.test(text) && !typed.test(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}
