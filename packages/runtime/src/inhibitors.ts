// Inhibitors of the alert nodes of one task.
import type { Inhibitor, InhibitorRegistry } from './node.ts';

export class Inhibitors implements InhibitorRegistry {
  readonly #byCategory = new Map<string, Set<Inhibitor>>();

  add(inhibitor: Inhibitor): void {
    let set = this.#byCategory.get(inhibitor.category);
    if (set === undefined) this.#byCategory.set(inhibitor.category, (set = new Set()));
    set.add(inhibitor);
  }

  remove(inhibitor: Inhibitor): void {
    this.#byCategory.get(inhibitor.category)?.delete(inhibitor);
  }

  isInhibited(category: string, tags: (name: string) => string | undefined): boolean {
    const set = this.#byCategory.get(category);
    if (set === undefined) return false;
    for (const inhibitor of set) {
      const isSame = inhibitor.tags.every(([name, value]) => (tags(name) ?? '') === value);
      if (inhibitor.isActive && isSame) return true;
    }
    return false;
  }
}
