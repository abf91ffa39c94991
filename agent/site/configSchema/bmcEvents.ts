import Type from 'typebox';
import { closed, listen } from './parts.ts';

export const BmcEvents = Type.Object(
  {
    mode: Type.Enum(['auto', 'poll'], {
      default: 'auto',
      description:
        '`auto`: each Redfish BMC is listened to, by its stream of events where it has one, else by what it posts to `listen`, else not. `poll`: none is, and all are asked alone.',
    }),
    listen: Type.Optional(
      Type.String({
        pattern: listen,
        description:
          'Address and port where BMCs without a stream post their events, e.g. `10.78.0.1:8445`; none when left out. For the network of the BMCs alone.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        pattern: '^https?://[^/@?#\\s]+$',
        description:
          'How BMCs reach that place, e.g. `https://192.0.2.10:8445` behind address translation; when left out, `https://` and `listen`. With `http://` the site listens without TLS.',
      }),
    ),
  },
  {
    ...closed,
    default: {},
    description: 'How BMCs tell this site of what happens, so that it need not ask.',
  },
);
