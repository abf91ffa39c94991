import Type, { type Static } from 'typebox';

/**
 * What a site hands the UEFI firmware of a machine. `ipxe`: iPXE, which no distribution signs, so for machines without Secure Boot or
 * with an iPXE that the operator has signed. `shim`: shim and GRUB as the distribution signed them, which start its kernel alone. `uki`:
 * the ramdisk's unified kernel image itself, by UEFI HTTP boot, for machines that have the operator's own key. BIOS machines get iPXE
 * in any case.
 */
export const loaders = ['ipxe', 'shim', 'uki'] as const;
export const Loader = Type.Enum(loaders);
export type Loader = Static<typeof Loader>;
