package contract

// StartupTaint is the key of the taint behind which a new node measures itself. The kubelet sets
// it, and the server removes it. Autoscalers ignore taints with this prefix when they decide
// whether pods will fit on a node.
const StartupTaint = "startup-taint.cluster-autoscaler.kubernetes.io/workload-resizer"
