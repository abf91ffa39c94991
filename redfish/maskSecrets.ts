import type { Answer } from './answers.ts';
import { asObject, asText, parseBody } from './json.ts';

/** A BMC may quote what it was sent, as it is or escaped, and what we tell of a refusal goes into logs and errors. */
export function maskSecrets(answer: Answer, secrets: readonly string[]): Answer {
  return secrets.reduce(maskSecret, answer);
}

function maskSecret(answer: Answer, secret: string): Answer {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
  if (secret === '' || !forms.some((form) => answer.text.includes(form))) return answer;
  const text = forms.reduce((shown, form) => shown.replaceAll(form, '***'), answer.text);
  return { ...answer, text, body: parseBody(text) };
}

/** A refusal, and a task, whose messages and payload are what was sent. Anything else is data, in which a short password may be a word. */
export function mayQuote({ status, body }: Answer): boolean {
  return status >= 400 || asText(asObject(body).TaskState) !== undefined;
}
