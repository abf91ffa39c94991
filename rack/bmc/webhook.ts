import { Agent, request } from 'undici';

const tries = 3;
const limitMs = 5000;

/**
 * Posts an event to a subscriber, whose certificate nobody looks at. Whether it was taken: as iLO does, which takes 200 alone for a yes
 * (DMTF/Redfish-Event-Listener issue 30).
 */
export async function deliver(
  { destination, context }: { destination: string; context: string },
  event: Record<string, unknown>,
): Promise<boolean> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    for (let at = 0; at < tries; at++)
      if (await posted(dispatcher, destination, { ...event, Context: context })) return true;
    return false;
  } finally {
    await dispatcher.close();
  }
}

async function posted(dispatcher: Agent, destination: string, event: object): Promise<boolean> {
  try {
    const { statusCode, body } = await request(destination, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(limitMs),
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
