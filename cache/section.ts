import { BrokenPe, peSections, sectionRange } from '#base/pe.ts';

/** In bytes of the artifact. */
export interface Section {
  offset: number;
  sizeBytes: number;
}

/**
 * Where the named section of a unified kernel image of `sizeBytes` lies; undefined when `head` is of no PE image or there is no such section,
 * or when it would lie beyond the end: whoever made the image wrote its table, and no disk is at fault then.
 */
export function sectionOf(head: Buffer, sizeBytes: number, name: string): Section | undefined {
  try {
    const section = peSections(head).find((one) => one.name === name);
    if (section === undefined) return undefined;
    const { offset, length } = sectionRange(section);
    return offset + length > sizeBytes ? undefined : { offset, sizeBytes: length };
  } catch (error) {
    if (error instanceof BrokenPe) return undefined;
    throw error;
  }
}
