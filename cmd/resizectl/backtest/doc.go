// Package backtest has the command that replays recorded usage against policies.
//
// It must not know a server, so that users can compare policies before they install one.
package backtest
