/** What the frames of objects and arrays have in common: may it end here, and how would it. */
import type { Atom } from "../schema/formula.ts";
import type { Place, Verdict } from "./place.ts";

interface ContainerShape {
  readonly place: Place;
  readonly atoms: readonly Atom[];
  readonly isGuided: boolean;
}

interface ContainerState<Shape extends ContainerShape> {
  readonly shape: Shape;
  /** The atom would hold if the container ended here. */
  atomHolds(index: number): boolean;
  verdict(): Verdict;
}

export abstract class ContainerFrame<
  Shape extends ContainerShape,
  State extends ContainerState<Shape>,
  Completion,
> {
  readonly state: State;
  readonly shape: Shape;
  #completion: Completion | null | undefined;
  #canClose: boolean | undefined;
  #verdict: Verdict | undefined;

  constructor(state: State) {
    this.state = state;
    this.shape = state.shape;
  }

  get canClose(): boolean {
    if (this.#canClose === undefined) {
      this.#canClose = this.shape.isGuided
        ? this.shape.atoms.every((_, index) => this.state.atomHolds(index))
        : this.shape.place.isSatisfiedBy(this.verdict);
    }
    return this.#canClose;
  }

  /** Truth of the place's schemas if the container ended here. */
  get verdict(): Verdict {
    this.#verdict ??= this.state.verdict();
    return this.#verdict;
  }

  /** A shortest known way to end the container from here; null where there is none. */
  get completion(): Completion | null {
    if (this.#completion === undefined) this.#completion = this.complete();
    return this.#completion;
  }

  protected abstract complete(): Completion | null;
}
