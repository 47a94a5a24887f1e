// Copies a text, and says that it did.
import { texts } from '../texts/texts.ts';
import { IconButton } from './button.tsx';
import { toast } from './toasts.tsx';

/** Copies to the clipboard; without TLS, by the browser's older method. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No secure context, or refused: the selection still works.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast(texts.common.copied);
}

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <IconButton
      isSmall
      icon="copy"
      label={label ?? texts.common.copy}
      onClick={() => void copyText(text)}
    />
  );
}
