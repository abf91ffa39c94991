import Type from 'typebox';
import { durationPattern } from '#contract/durations.ts';
import { BmcEvents } from './bmcEvents.ts';
import { closed } from './parts.ts';

export const Bmc = Type.Object(
  {
    ipmitool: Type.String({
      minLength: 1,
      default: 'ipmitool',
      description:
        "The program that drives BMCs by IPMI: Debian's package `ipmitool`, found by PATH. A site without such BMCs needs none.",
    }),
    healthEvery: Type.String({
      pattern: durationPattern,
      default: '5m',
      description:
        'How often each BMC is asked for power and health; the times are spread, and what changes is told to the centre.',
    }),
    mediaFrom: Type.Enum(['source', 'cache'], {
      default: 'source',
      description:
        "Where a BMC reads an ISO of the catalog that it mounts: at the image's own `https` source, or in this site's cache, which pulls and proves it first.",
    }),
    mediaUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/@?#\\s]+$',
        description:
          'Where BMCs reach the boot listener for that, `http://192.0.2.10:8080`; when left out, at its address on the network that the BMC is in, else on the main one.',
      }),
    ),
    logEvery: Type.String({
      pattern: durationPattern,
      default: '5m',
      description:
        "How often each BMC's event log (SEL) is read, at the next of the times above; new entries go into the machine's timeline.",
    }),
    events: BmcEvents,
  },
  { ...closed, default: {}, description: 'How this site drives BMCs.' },
);
