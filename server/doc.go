// Package server assembles the API: it listens, passes each call through the guards in their
// order, creates the services (one package each), and serves probes and metrics over HTTP.
//
// It must not decide anything about pods, ratios or holds, nor implement a method: the
// services ask the reconciler and the stores, and translate.
package server
