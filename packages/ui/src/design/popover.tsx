// Popovers and menus on the browser's own popover: above everything, closed by Escape and by a
// click elsewhere.
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

import { Button, IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

const MARGIN = 8;

/** Places a popover below its button, or above where there is more room, inside the window. */
function place(popover: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popover;
  const left = Math.min(at.left, window.innerWidth - width - MARGIN);
  const below = at.bottom + 4;
  const isAbove = below + height > window.innerHeight && at.top > height;
  popover.style.left = `${Math.max(MARGIN, left)}px`;
  popover.style.top = `${Math.max(MARGIN, isAbove ? at.top - height - 4 : below)}px`;
}

type Trigger = {
  readonly label: string;
  readonly icon?: IconName | undefined;
  /** A button with only the icon. */
  readonly isIconOnly?: boolean | undefined;
  readonly isSmall?: boolean | undefined;
  readonly disabled?: boolean | undefined;
};

/**
 * A button that opens a panel. `children` gets the function that closes it; it is rendered only
 * while open.
 */
export function Popover({
  label,
  icon,
  isIconOnly,
  isSmall,
  disabled,
  isMenu,
  children,
}: Trigger & {
  readonly isMenu?: boolean | undefined;
  readonly children: (close: () => void) => ComponentChildren;
}) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => panel.current?.hidePopover();
  const button = {
    popovertarget: id,
    'aria-haspopup': isMenu === true ? 'menu' : 'dialog',
    'aria-expanded': isOpen ? 'true' : 'false',
    disabled: disabled === true,
    isSmall,
  } as const;
  return (
    <>
      <span ref={anchor} class="popover-anchor">
        {isIconOnly === true ? (
          <IconButton {...button} label={label} icon={icon ?? 'more'} />
        ) : (
          <Button {...button} icon={icon}>
            {label}
            <Icon name="down" />
          </Button>
        )}
      </span>
      <div
        ref={panel}
        id={id}
        popover="auto"
        class={`popover ${isMenu === true ? '' : 'padded'}`}
        role={isMenu === true ? 'menu' : 'dialog'}
        aria-label={label}
        onToggle={(event) => {
          const isNowOpen = event.newState === 'open';
          setOpen(isNowOpen);
          if (!isNowOpen) return;
          // The content is rendered after this event.
          requestAnimationFrame(() => {
            if (panel.current === null || anchor.current === null) return;
            place(panel.current, anchor.current);
            // Whoever was faster has chosen something there.
            if (panel.current.contains(document.activeElement)) return;
            panel.current
              .querySelector<HTMLElement>('[autofocus], [role=menuitem]:not(:disabled)')
              ?.focus();
          });
        }}
        onKeyDown={isMenu === true ? moveInMenu : undefined}
      >
        {isOpen ? children(close) : null}
      </div>
    </>
  );
}

export type MenuItem = {
  readonly label: string;
  readonly icon?: IconName | undefined;
  readonly isDanger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly run: () => void;
};

/** A button that opens a list of actions. Arrow keys move in it. */
export function Menu({ items, ...trigger }: Trigger & { readonly items: readonly MenuItem[] }) {
  return (
    <Popover {...trigger} isMenu>
      {(close) =>
        items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            class={`menu-item ${item.isDanger === true ? 'danger' : ''}`}
            disabled={item.disabled}
            onClick={() => {
              close();
              item.run();
            }}
          >
            {item.icon === undefined ? null : <Icon name={item.icon} />}
            {item.label}
          </button>
        ))
      }
    </Popover>
  );
}

function moveInMenu(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const items = [
    ...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)'),
  ];
  const at = items.findIndex((item) => item === document.activeElement);
  items[(at + step + items.length) % items.length]?.focus();
}
