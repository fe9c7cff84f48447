// Package main compares our recommender with the VPA's own classes: its tests check that both
// recommend the same, and the program replays usage under both, with the options of "resizectl
// backtest".
package main
