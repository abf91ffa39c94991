import Type from 'typebox';
import { closed, listen } from './parts.ts';

export const Syslog = Type.Object(
  {
    listen: Type.Optional(
      Type.String({
        pattern: listen,
        description:
          'Address and port for syslog over UDP, e.g. `10.77.0.1:514`; none when left out. Lines go into the timeline of the machine that has the address they come from.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The log of installers, for `bcd site trace`.' },
);
