// Package server assembles the API: it listens, has each call pass the guards in
// their order, makes the services of what each needs, a package per service, and
// serves probes and metrics over HTTP.
//
// It must not decide anything about pods, ratios or holds, nor answer a method: the
// services ask the reconciler and the stores, and translate.
package server
