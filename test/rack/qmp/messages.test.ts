import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQmpLine } from '#rack/qmp/messages.ts';

test.each([
  [
    '{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian"}, "capabilities": ["oob"]}}',
    { type: 'greeting', version: '7.2.22' },
  ],
  ['{"return": {}, "id": 3}', { type: 'return', id: 3, value: {} }],
  [
    '{"id": 4, "error": {"class": "GenericError", "desc": "no such device"}}',
    { type: 'error', id: 4, class: 'GenericError', text: 'no such device' },
  ],
  [
    '{"timestamp": {"seconds": 1}, "event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}}\r',
    { type: 'event', name: 'SHUTDOWN', data: { guest: true, reason: 'guest-reset' } },
  ],
  ['{"event": "RESUME"}', { type: 'event', name: 'RESUME', data: {} }],
])('%s', (line, message) => {
  expect(parseQmpLine(line)).toEqual(message);
});

test.each([
  '',
  'null',
  '[]',
  '7',
  '{"return": {}}',
  '{"id": 1}',
  '{"id": 1, "error": 5}',
  '{"QMP": 1}',
  '{"event"',
])('%j is no message', (line) => {
  expect(parseQmpLine(line)).toBeUndefined();
});

test('any line is a message or not, and never an exception', () => {
  const property = (line: string) => {
    parseQmpLine(line);
  };
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), property));
});
