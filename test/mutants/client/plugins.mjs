// Plugins of StrykerJS.
import { readFileSync } from 'node:fs';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { mutantKey } from './mutant-key.mjs';

/** Lets those of all mutants through that were drawn: a checker is the only place where single ones can be left out. */
class SampleChecker {
  #drawn;

  async init() {
    this.#drawn = new Set(JSON.parse(readFileSync(process.env.MUTANTS_SAMPLE, 'utf8')));
  }

  async check(mutants) {
    const left = { status: 'compileError', reason: 'not drawn' };
    return Object.fromEntries(
      mutants.map((mutant) => [mutant.id, this.#drawn.has(mutantKey(mutant)) ? { status: 'passed' } : left]),
    );
  }
}

/** Prints those that survive as they are found: a run takes hours, and who ends it early knows what it found. */
class SurvivorReporter {
  #killed = 0;
  #survived = 0;

  onMutantTested({ status, fileName, location, mutatorName, replacement }) {
    if (status === 'CompileError' || status === 'Ignored') return;
    if (status !== 'Survived' && status !== 'NoCoverage') {
      this.#killed++;
      return;
    }
    this.#survived++;
    const { line, column } = location.start;
    const path = fileName.replaceAll('\\', '/').replace(/^.*\/src\//, 'src/');
    console.log(`${this.#survived} survived, ${this.#killed} killed: ${path}:${line}:${column} ${mutatorName}`);
    console.log(`  ${replacement.replaceAll('\n', '\n  ')}`);
  }
}

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.Checker, 'sample', () => new SampleChecker()),
  declareFactoryPlugin(PluginKind.Reporter, 'survivors', () => new SurvivorReporter()),
];
