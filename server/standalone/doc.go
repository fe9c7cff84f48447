// Package standalone is a server without a cluster: it knows the ratios of a
// configuration, and plans manifests.
//
// It must not know how it is reached, nor read a kubeconfig.
package standalone
