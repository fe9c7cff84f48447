// Package node runs one node: unmodified upstream kubelet code over a simulated machine.
// The kubelet registers the node, admits pods and their resizes, runs the pods and
// reports their status. Its requests to containers, cgroups and the kernel are answered
// from memory.
//
// The simulation keeps what a real machine would keep about resources: the requests and
// limits of each container and of each pod's cgroup. In-place resizes are therefore not
// only admitted but actuated. A container runs until it is stopped, except:
//
//   - an init container that is not a sidecar succeeds immediately;
//   - the commands "true", "false" and "sleep SECONDS" do what they say, so
//     that Jobs end.
//
// Every running container uses 16 MiB of memory. As on a real machine, a lower limit
// cannot be set in place. A running container is ready; probes are not executed. Images
// need no pulling. A connection forwarded to port N of a pod reaches port N of this
// machine, as if the pod used the host network.
//
// A node may report an older kubelet version. It then has the features of that version,
// but not its code: changes without a feature gate are still new.
//
// The package must not know how processes are started or ended, nor anything about the
// control plane except how to reach it.
package node
