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
    parallelPulls: Type.Integer({ minimum: 1, maximum: 16, default: 2, description: 'Downloads at a time.' }),
  },
  { ...closed, default: {}, description: 'The image cache.' },
);
