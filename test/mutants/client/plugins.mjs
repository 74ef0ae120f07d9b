// Plugins of StrykerJS.
import { appendFileSync, readFileSync } from 'node:fs';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { mutantKey, UNDECIDED } from './mutant-key.mjs';
import { createRunner } from './runner.mjs';

/** Filters mutants down to the sample: only a checker can skip individual mutants. */
class SampleChecker {
  #drawn;

  async init() {
    const drawn = JSON.parse(readFileSync(process.env.MUTANTS_SAMPLE, 'utf8'));
    this.#drawn = new Map(drawn.map((key, i) => [key, i]));
  }

  /** Returns them one by one in sample order: so the results so far are an estimate at any time. */
  async group(mutants) {
    const place = (mutant) => this.#drawn.get(mutantKey(mutant)) ?? this.#drawn.size;
    return [...mutants].sort((a, b) => place(a) - place(b)).map(({ id }) => [id]);
  }

  async check(mutants) {
    const left = { status: 'compileError', reason: 'not drawn' };
    return Object.fromEntries(
      mutants.map((mutant) => [mutant.id, this.#drawn.has(mutantKey(mutant)) ? { status: 'passed' } : left]),
    );
  }
}

/**
 * Saves each result as it is found, and prints mutants that are not killed: a run takes hours, and can be continued after an
 * interruption.
 */
class ResultReporter {
  #killed = 0;
  #outlived = 0;

  onMutantTested({ status: theirs, statusReason, fileName, location, mutatorName, replacement }) {
    if (theirs === 'CompileError' || theirs === 'Ignored') return;
    const status = statusReason === UNDECIDED ? UNDECIDED : theirs;
    const key = mutantKey({ fileName, location: fromZero(location), replacement });
    appendFileSync(process.env.MUTANTS_RESULTS, `${JSON.stringify({ key, status })}\n`);
    const isKilled = status !== 'Survived' && status !== 'NoCoverage' && status !== UNDECIDED;
    if (isKilled) this.#killed++;
    else this.#outlived++;
    if (isKilled && this.#killed % 20 !== 0) return;
    const which = isKilled ? '' : `: ${status} ${key} (${mutatorName})`;
    console.log(`${this.#outlived} outlived the tests that were run, ${this.#killed} killed${which}`);
  }
}

/** Converts the location of a result, which counts lines and columns from 1, to that of mutants. */
function fromZero({ start, end }) {
  const less = ({ line, column }) => ({ line: line - 1, column: column - 1 });
  return { start: less(start), end: less(end) };
}

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'kept-vitest', createRunner),
  declareFactoryPlugin(PluginKind.Checker, 'sample', () => new SampleChecker()),
  declareFactoryPlugin(PluginKind.Reporter, 'results', () => new ResultReporter()),
];
