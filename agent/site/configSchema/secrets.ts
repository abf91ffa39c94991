import Type from 'typebox';
import { closed } from './parts.ts';

export const Secrets = Type.Object(
  {
    directory: Type.String({
      minLength: 1,
      default: '/etc/bcd/secrets',
      description:
        "BMC credentials that the centre does not keep: `secret://a/b` is the file `a/b` in here (or `a.b` in systemd's credentials directory), one line `username:password`.",
    }),
    keyFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "File with the key (base64 of 32 bytes) that secrets from the centre and the site's private keys are encrypted by on this disk; systemd's credential `bcd.at-rest-key` goes before it, and without either a key is made in the state directory.",
      }),
    ),
  },
  {
    ...closed,
    default: {},
    description: 'Secrets of this site, and what those from the centre are encrypted by.',
  },
);
