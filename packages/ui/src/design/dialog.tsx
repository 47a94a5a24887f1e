// Modal dialogs, based on the browser's own: the focus stays inside, Escape closes them and returns
// the focus.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { texts } from '../texts/texts.ts';
import { Button, IconButton } from './button.tsx';

/** A dialog that is open while it is rendered. `onClose` is called for Escape and the cross. */
export function Dialog({
  title,
  isWide,
  isFull,
  footer,
  onClose,
  children,
}: {
  readonly title: string;
  readonly isWide?: boolean | undefined;
  /** As large as the window. */
  readonly isFull?: boolean | undefined;
  readonly footer?: ComponentChildren;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    if (shown?.open === false) shown.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${isFull === true ? 'full' : isWide === true ? 'wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <IconButton label={texts.common.close} icon="close" onClick={onClose} />
      </header>
      <div class="body">{children}</div>
      {footer === undefined ? null : <footer>{footer}</footer>}
    </dialog>
  );
}

/** Asks for confirmation of an irreversible action. */
export function ConfirmDialog({
  title,
  children,
  action,
  isBusy,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The label of the button: the action, never "OK". */
  readonly action: string;
  readonly isBusy?: boolean | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button kind="danger" isBusy={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
