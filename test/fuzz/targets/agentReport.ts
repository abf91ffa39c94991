import {
  ReportEnvelope,
  ReportedEvent,
  ReportedImage,
  ReportedProgress,
  ReportedResult,
  wellFormed,
} from '#central/agents/reportSchema.ts';
import { validateMessage } from '#contract/protocol.ts';
import { isRailheadError, json, parsedJson } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const at = '2026-01-01T00:00:00.000Z';

/** What a site reports to the centre: the envelope is refused whole, items one by one. */
export const target: FuzzTarget = {
  seeds: [
    json({
      protocol: 1,
      observedGeneration: 3,
      results: [
        { operationId: 'op_1', outcome: 'failed', error: { code: 'INTERNAL', message: 'm' }, finishedAt: at },
      ],
      progress: [{ operationId: 'op_1', phase: 'write', doneBytes: 1, at }],
      events: [
        { eventId: 'e1', at, type: 'boot.dhcp', mac: '02:00:00:00:00:01', bootId: 'boot_1', text: 'OFFER' },
        { eventId: 'e2', at, type: 'machine.discovered', uuid: '00112233-4455-6677-8899-aabbccddeeff' },
      ],
      images: [{ digest: 'ab'.repeat(32), ref: 'a@1', state: 'ready', sizeBytes: 1 }],
    }),
    json({ protocol: 1, observedGeneration: 0, results: [], progress: [], events: [] }),
  ],
  longest: 1 << 20,
  run(input) {
    const report = validateMessage(ReportEnvelope, parsedJson(input));
    wellFormed(ReportedResult, report.results);
    wellFormed(ReportedProgress, report.progress);
    wellFormed(ReportedEvent, report.events);
    wellFormed(ReportedImage, report.images ?? []);
  },
  declares: isRailheadError,
};
