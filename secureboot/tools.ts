import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';

export interface ToolOptions {
  /** Where Debian packages are kept. */
  cacheDirectory: string;
  progress?: (line: string) => void;
}

/** Debian's sbsigntool, run without being installed. */
export function signingTools(options: ToolOptions): Promise<Toolbox> {
  return openToolbox(['sbsigntool'], options);
}

/** What an enrolment medium is made of: systemd-boot, and the tools of a FAT file system. */
export function mediumTools(options: ToolOptions): Promise<Toolbox> {
  return openToolbox(['sbsigntool', 'efitools', 'dosfstools', 'mtools', 'systemd-boot-efi'], options);
}
