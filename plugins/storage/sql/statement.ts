import type { CompiledQuery } from "kysely";

/** A compiled query, and by what names its parameters are bound. `R` is the row it answers. */
export interface Statement<P, R = never> {
  readonly query: CompiledQuery;
  readonly parameters: readonly (keyof P & string)[];
  /** Never set: carries the type of the rows. */
  readonly row?: R;
}

/** Stands for a value in a query that is being built. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A parameter where Kysely's types expect a column's value. */
export function value<T = string>(name: string): T {
  return new Parameter(name) as T;
}

/** A compiled query as a statement: whatever became a parameter must be a {@linkcode value}. */
export function named<P, R>(query: CompiledQuery): Statement<P, R> {
  const parameters = query.parameters.map((parameter) => {
    if (parameter instanceof Parameter) return parameter.name as keyof P & string;
    throw new TypeError(`a constant became a parameter of: ${query.sql}`);
  });
  return { query, parameters };
}

/** The values of a statement's parameters, in its order. */
export function bind<P, V>({ parameters }: Statement<P, unknown>, values: P): V[] {
  return parameters.map((name) => values[name] as V);
}
