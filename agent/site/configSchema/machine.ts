import Type from 'typebox';
import { closed, listen } from './parts.ts';

export const Machine = Type.Object(
  {
    listen: Type.Optional(
      Type.String({
        pattern: listen,
        description:
          'Address and port of the TLS listener for ramdisks; the provisioning address and 8443 when left out.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The door for machines.' },
);
