// Package backtest has the command that replays recorded usage against policies.
//
// It must not know a server, so that users can compare policies before they install one.
//
// It does not use the verbs of package objects, which call a server: its rows are computed in this process.
package backtest
