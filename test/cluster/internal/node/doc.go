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
// A running container does the work that its pod declares in an annotation, or almost
// nothing; see package work. Once a second, the machine decides what the containers get of
// what they want, and which of them are killed; see package kernel. The kubelet reports it
// through its own endpoints and reacts to it. A container is ready when its work is; probes
// are not executed. An exporter serves throttling and pressure, which only the cAdvisor of
// a real kubelet measures.
//
// Images need no pulling. A connection forwarded to port N of a pod reaches port N of this
// machine, as if the pod used the host network.
//
// A node may report an older kubelet version. It then has the features of that version,
// but not its code: changes without a feature gate are still new.
//
// The package must not know how processes are started or ended, nor anything about the
// control plane except how to reach it.
package node
