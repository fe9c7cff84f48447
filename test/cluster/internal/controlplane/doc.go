// Package controlplane runs the components of a Kubernetes control plane, each in the
// calling process: unmodified etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, with arguments that suit a local throwaway cluster. Everything listens
// on 127.0.0.1 only.
//
// Feature gates, controllers and limits keep their defaults unless a comment
// says why not. The package must not know how processes are started or ended.
package controlplane
