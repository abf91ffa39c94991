import Type from 'typebox';
import { closed } from './parts.ts';

export const Boot = Type.Object(
  {
    httpPort: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 8080,
      description: 'Port of the boot listener: iPXE scripts and image bytes, no TLS.',
    }),
    httpsPort: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description:
          "Port of a boot listener with TLS, for firmware that boots by HTTPS; none when left out. Its certificate is of a CA of this site's own, which `bcd site boot-ca` prints.",
      }),
    ),
    offerHttps: Type.Boolean({
      default: false,
      description:
        'Firmware that boots by HTTP is given the `https` URL. It must trust the CA: firmware that does not boots no more.',
    }),
    ipxeDirectory: Type.String({
      minLength: 1,
      default: '/usr/lib/ipxe',
      description:
        'Where the iPXE binaries are (`snponly.efi`, `undionly.kpxe`); the default is where Debian has them.',
    }),
    raspberryPiDirectory: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Folder with what the boot ROMs of Raspberry Pis load by TFTP; a machine finds `<serial>/` or `<mac>/` of its own there before what all share.',
      }),
    ),
    shimDirectory: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Where `railhead secure-boot refresh` has put shim and GRUB, for machines with Secure Boot; without it every machine gets iPXE.',
      }),
    ),
    loader: Type.Enum(['ipxe', 'shim'], {
      default: 'ipxe',
      description:
        'What UEFI machines get of which nobody has said whether Secure Boot is on; shim works on machines without it too.',
    }),
    dhcpPort: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 67,
      description: 'Port of the DHCP server; firmware asks 67 only, others are for trials.',
    }),
    tftpPort: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 69,
      description: 'Port of the TFTP server; firmware asks 69 only, others are for trials.',
    }),
    consoles: Type.Array(Type.String({ pattern: '^[A-Za-z0-9,]{1,32}$' }), {
      default: [],
      description: 'Kernel consoles of the ramdisk, e.g. `ttyS0,115200`; the last one is its main one.',
    }),
  },
  { ...closed, default: {}, description: 'What machines boot from.' },
);
