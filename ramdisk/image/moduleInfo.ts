import { elfSection } from './elf.ts';

/** What a kernel module says of itself in its `.modinfo` section. */
export interface ModuleInfo {
  /** Modules that must be loaded before it. */
  depends: string[];
  /** Modules that it would like to have (`softdep`), before or after it. */
  softDepends: string[];
  /** Files that it may load from /lib/firmware; some are patterns. */
  firmware: string[];
}

/** Reads `name=value` strings, each ended by a zero byte (Linux include/linux/module.h, MODULE_INFO). */
export function moduleInfo(file: Buffer): ModuleInfo {
  const strings = elfSection(file, '.modinfo')?.toString('latin1').split('\0') ?? [];
  const values = (name: string): string[] =>
    strings.filter((text) => text.startsWith(`${name}=`)).map((text) => text.slice(name.length + 1));
  return {
    depends: values('depends')
      .flatMap((text) => text.split(','))
      .filter((name) => name !== '')
      .map(moduleName),
    softDepends: values('softdep')
      .flatMap((text) => text.split(/\s+/))
      .filter((name) => name !== '' && !name.endsWith(':'))
      .map(moduleName),
    firmware: values('firmware'),
  };
}

/** The kernel takes `-` and `_` in a module's name for the same. */
export function moduleName(name: string): string {
  return name.replaceAll('-', '_');
}
