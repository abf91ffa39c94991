import Type from 'typebox';
import { closed, size } from './parts.ts';

const timeOfDay = '^([01]\\d|2[0-3]):[0-5]\\d$';

export const Cache = Type.Object(
  {
    directory: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Where images are kept; `images` in the state directory when left out.',
      }),
    ),
    quota: Type.String({
      pattern: size,
      default: '50GiB',
      description: 'The most that images may take on disk (`MiB`, `GiB`, `TiB`).',
    }),
    sourceCaFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM of a CA for image sources, beside the system's." }),
    ),
    proxy: Type.Optional(
      Type.String({
        pattern: '^https?://[^/@]+$',
        description:
          'URL of an HTTP proxy that image sources are reached through (`http://proxy.example.com:3128`).',
      }),
    ),
    proxyCredentialsFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'File with `user:password` for the proxy; they are shown to it alone.',
      }),
    ),
    proxyExcept: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      default: [],
      description:
        'Hosts of sources that are asked directly: a name or an address, or a domain with a dot before it (`.lab.example.com`).',
    }),
    bandwidth: Type.Array(
      Type.Object(
        {
          from: Type.String({
            pattern: timeOfDay,
            description: 'Beginning, `HH:MM` by the host’s clock and time zone.',
          }),
          to: Type.String({
            pattern: timeOfDay,
            description: 'End; before the beginning: on the next day, the same: all day.',
          }),
          limit: Type.String({ pattern: size, description: 'Bytes a second (`MiB`, `GiB`).' }),
        },
        closed,
      ),
      {
        default: [],
        maxItems: 24,
        description:
          'What all pulls together take of the link at most, by time of the day; where several hold the lowest.',
      },
    ),
    scrubRate: Type.String({
      pattern: '^(off|[1-9]\\d*(MiB|GiB))$',
      default: '16MiB',
      description:
        'How fast what is held is read again, in the background, to find what the disk has lost: bytes a second (`MiB`, `GiB`), or `off`.',
    }),
    scrubDays: Type.Integer({
      minimum: 1,
      maximum: 365,
      default: 7,
      description: 'In how many days every image is read again once, as far as `scrubRate` allows.',
    }),
    onDemand: Type.Boolean({
      default: false,
      description:
        'Whether an image that is deployed here and that no pool pre-warms is pulled into the cache, and the machine waits for it, instead of being streamed from its source.',
    }),
    parallelPulls: Type.Integer({
      minimum: 1,
      maximum: 16,
      default: 2,
      description: 'Downloads at a time; as many more may run that a machine waits for.',
    }),
  },
  { ...closed, default: {}, description: 'The image cache.' },
);
