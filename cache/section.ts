import { BrokenPe, peSections, sectionRange } from '#base/pe.ts';

/** In bytes of the artifact. */
export interface Section {
  offset: number;
  sizeBytes: number;
}

/**
 * Where the named section of a unified kernel image lies; undefined when `head` is of no PE image or there is
 * no such section.
 */
export function sectionOf(head: Buffer, name: string): Section | undefined {
  try {
    const section = peSections(head).find((one) => one.name === name);
    if (section === undefined) return undefined;
    const { offset, length } = sectionRange(section);
    return { offset, sizeBytes: length };
  } catch (error) {
    if (error instanceof BrokenPe) return undefined;
    throw error;
  }
}
