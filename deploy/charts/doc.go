// Package charts is the Helm chart and its tests: that it makes what kustomize
// makes, and what becomes of it on a real API server. What needs no values is
// copied into the chart's files/ from the manifests of kustomize, since a chart
// has to stand alone when it is packaged.
//
// It must not know what the manifests mean: their own tests do.
package charts
