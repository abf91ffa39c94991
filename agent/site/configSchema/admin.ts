import Type from 'typebox';
import { closed, listen } from './parts.ts';

export const Admin = Type.Object(
  {
    listen: Type.String({
      pattern: listen,
      default: '127.0.0.1:9090',
      description:
        'Address and port of the admin listener, for the management network: health, metrics, inventory.',
    }),
    socket: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Local socket with the same routes; `bcd.sock` in the state directory when left out.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The door for operators.' },
);
