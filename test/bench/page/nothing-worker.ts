import { expose } from 'comlink';

expose({ nothing: () => null });
