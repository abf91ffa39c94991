/** Keys and array indices from the document down to a field. */
export type FieldSegments = readonly (string | number)[];

/** The written path of a field: `steps[2].timeout`; empty for the document itself. */
export function fieldPath(segments: FieldSegments): string {
  return segments.reduce<string>(append, '');
}

function append(path: string, segment: string | number): string {
  if (typeof segment === 'number') return `${path}[${segment}]`;
  return path === '' ? segment : `${path}.${segment}`;
}
