// Package charts contains the Helm chart and its tests. The tests check that the chart creates
// the same objects as kustomize, and that a real API server accepts them. Manifests that need
// no values are copied from kustomize to the chart's files/, since a packaged chart must be
// self-contained.
//
// It must not know what the manifests mean: their own tests check that.
package charts
