import Type from 'typebox';
import { closed, size } from './parts.ts';

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
    parallelPulls: Type.Integer({ minimum: 1, maximum: 16, default: 2, description: 'Downloads at a time.' }),
  },
  { ...closed, default: {}, description: 'The image cache.' },
);
