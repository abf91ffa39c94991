/**
 * How the If-Match of a write is formed. BMCs differ: some demand it (Lenovo, 428), some refuse the weak form
 * that they themselves gave (Gigabyte), some quote it twice, some answer 412 to the first write only (iDRAC).
 */
export type IfMatchForm = 'as-given' | 'loosened' | 'any' | 'none';

/** The tag of a resource: the header, else the body's; an empty one is none (`If-Match: ""` gives 412). */
export function tagOf(header: string | undefined, bodyTag: string | undefined): string | undefined {
  return [header, bodyTag].find((tag) => tag !== undefined && tag !== '' && tag !== '""');
}

/** The forms to try, in order, one write each; the one that worked before comes first. At most four. */
export function ifMatchForms(tag: string | undefined, worked: IfMatchForm | undefined): IfMatchForm[] {
  const usual: IfMatchForm[] =
    tag === undefined ? ['none', 'any'] : ['as-given', 'as-given', 'loosened', 'any'];
  return worked === undefined ? usual : [worked, ...usual.filter((form) => form !== worked)].slice(0, 4);
}

export function ifMatchHeader(form: IfMatchForm, tag: string | undefined): Record<string, string> {
  if (form === 'any') return { 'if-match': '*' };
  if (form === 'none' || tag === undefined) return {};
  return { 'if-match': form === 'loosened' ? loosened(tag) : tag };
}

/** One layer less: weak becomes strong, double quotes single ones, a quoted tag bare. */
function loosened(tag: string): string {
  if (tag.startsWith('W/')) return tag.slice(2);
  return /^".*"$/.test(tag) ? tag.slice(1, -1) : tag;
}
