import type { Answer } from './answers.ts';
import { parseBody } from './json.ts';

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
