package contract

// Severity determines whether and how a reason becomes an event on the pod.
type Severity int

const (
	// Silent reasons are expected on most pods in a cluster; they appear only in plans and
	// metrics.
	Silent Severity = iota
	// Normal reasons become events of type Normal.
	Normal
	// Warning reasons become events of type Warning.
	Warning
)

// Info documents a reason.
type Info struct {
	Reason   Reason
	Severity Severity
	// Meaning is the description in the reference.
	Meaning string
	// Remedy is what a user can do about the reason. It begins with "nothing" if nothing needs
	// to be done. Commands and code are between backticks. These words stand for the pod's own:
	// POD, NAMESPACE, NODE, TYPE (the type of the node), SCOPE (the arguments that name the scope
	// of its hold).
	Remedy string
	// See is the section of the documentation that says more; empty if there is none.
	See string
	Traits
}

// Where is where something must change before a skipped pod can be resized.
type Where int

const (
	Nowhere Where = iota
	InNamespace
	OnNode
)

// Traits are what the planner and the loop must know of a reason.
type Traits struct {
	// Waits is where something must change before a pod that was skipped for the reason can be resized.
	Waits Where
	// Stays means that a resource may keep its size, or be reverted, because of it although its desired size
	// was computed. Part means that only a part of the pod may stay, while the rest has its desired size.
	Stays, Part bool
	// Restless means that its message changes with other pods, so that a different message is not new.
	Restless bool
	// Urgency ranks what a node says of a resize: a higher value requires action sooner. It is 0 for all others.
	Urgency int
}

var reasons = []Info{
	{
		Reason: Resized, Severity: Normal,
		Meaning: "The pod got the requests and limits for its node type, or the sizes in the message.",
		Remedy:  "nothing",
	},
	{
		Reason: AlreadyAligned, Severity: Normal,
		Meaning: "The pod has its desired size. As an event: it needed no resize.",
		Remedy:  "nothing",
	},
	{
		Reason: BoundsClamped, Severity: Normal,
		Meaning: "A bound of the configuration, not the ratio, determined a request.",
		Remedy:  "nothing, or change `bounds` in config.yaml if this size is not intended",
	},
	{
		Reason: ResizeFailed, Severity: Warning, Traits: Traits{Stays: true},
		Meaning: "The API server rejected a write, stored different sizes, or the write failed, as the message says. It is retried with backoff, up to an hour if an admission policy or webhook denies it, and after a day if one changes it.",
		Remedy:  "read the message, and change the admission policy or webhook that it names, or exempt the service account of the server; a new ratio, a change to the desired size or a new leader is tried immediately",
		See:     "docs/reference/alerts.md#workloadresizerresizesfailing",
	},
	{
		Reason: ResizeUnsupported, Severity: Warning,
		Meaning: "The API server or the node cannot resize this pod in place.",
		Remedy:  "read the message; the node must run Linux and Kubernetes 1.33 or later",
	},
	{
		Reason: Restored, Severity: Normal,
		Meaning: "The pod has its originals again, or always had them, and keeps them until the restore ends (`resizectl resume`).",
		Remedy:  "nothing, or end the restore: `resizectl resume SCOPE`; `resizectl holds` shows its scope",
	},
	{
		Reason: Reverted, Severity: Warning, Traits: Traits{Stays: true, Part: true},
		Meaning: "A resize made the pod worse, as the message says. Each resource that it lowered has its former size again, or only its former limit while the node has no room for the request, and keeps it until its desired size changes.",
		Remedy:  "nothing, or correct the ratio of node type TYPE or the requests of the workload; a new desired size is tried after a cooldown",
		See:     "docs/reference/guard.md",
	},
	{
		Reason: RevertBlocked, Severity: Warning, Traits: Traits{Stays: true, Waits: OnNode, Restless: true},
		Meaning: "A resize made the pod worse, as the message says, and cannot be reverted now, usually because its node no longer has room. It is retried when that may have changed.",
		Remedy:  "make room on node NODE, or delete the pod so that it starts elsewhere with its original requests: `kubectl delete pod POD -n NAMESPACE`",
		See:     "docs/reference/alerts.md#workloadresizerrevertblocked",
	},
	{
		Reason: Evicted, Severity: Normal,
		Meaning: "On the pod: it was evicted, because its node had no room for what it needs, and another node has. Its controller creates it again.",
		Remedy:  "nothing, or rank the pod with `eviction.rank` in config.yaml or the annotation `workload-resizer.io/eviction-rank`",
		See:     "docs/tasks/evict-pods.md",
	},
	{
		Reason: ResizeActuated, Severity: Silent,
		Meaning: "The containers run with the requests and limits in the pod's spec.",
		Remedy:  "nothing",
	},
	{
		Reason: ResizeInProgress, Severity: Silent, Traits: Traits{Stays: true, Urgency: 1, Restless: true},
		Meaning: "The node has accepted the resize but not completed it.",
		Remedy:  "nothing; after five minutes, check the kubelet: `kubectl describe node NODE`",
	},
	{
		Reason: ResizeDeferred, Severity: Normal, Traits: Traits{Stays: true, Urgency: 2, Restless: true},
		Meaning: "The node has no room for the resize now and retries it by itself.",
		Remedy:  "nothing; the kubelet retries it",
	},
	{
		Reason: ResizeInfeasible, Severity: Warning, Traits: Traits{Stays: true, Urgency: 4, Waits: OnNode},
		Meaning: "The node can never satisfy the resize; the pod is reverted. The same resize is retried when the pod, its node or its ratio changes, or after a day.",
		Remedy:  "nothing, or set `bounds`, or change the CPU manager policy of the node and reboot it",
		See:     "docs/reference/reasons.md#after-a-resize",
	},
	{
		Reason: ResizeError, Severity: Warning, Traits: Traits{Stays: true, Urgency: 3, Waits: OnNode},
		Meaning: "The node accepted the resize but cannot complete it; the part that blocks the pod is reverted, and retried with backoff.",
		Remedy:  "nothing; it is reverted, and retried with backoff; usually, the container uses more memory than the new limit",
	},
	{
		Reason: NotScheduled, Severity: Silent,
		Meaning: "The pod has no node yet.",
		Remedy:  "nothing, or find out why it has no node: `kubectl describe pod POD -n NAMESPACE`",
	},
	{
		Reason: NotOwned, Severity: Silent,
		Meaning: "The pod has no controller of a kind that is resized (`--owner-kinds`).",
		Remedy:  "create the pod by a controller, such as a Deployment, or add the kind of its controller to `--owner-kinds`",
	},
	{
		Reason: OptedOut, Severity: Silent,
		Meaning: "The pod has the annotation `workload-resizer.io/skip` with the value `true`, or with one that is neither `true` nor `false`.",
		Remedy:  "nothing, or remove the annotation from the template of the workload and from the pod: `kubectl annotate pod POD -n NAMESPACE workload-resizer.io/skip-`",
	},
	{
		Reason: Terminating, Severity: Silent,
		Meaning: "The pod is being deleted.",
		Remedy:  "nothing",
	},
	{
		Reason: Finished, Severity: Silent,
		Meaning: "The pod has succeeded or failed.",
		Remedy:  "nothing",
	},
	{
		Reason: NotRunning, Severity: Silent,
		Meaning: "The pod has not started yet.",
		Remedy:  "nothing; the pod is resized when it runs",
	},
	{
		Reason: StaticPod, Severity: Silent,
		Meaning: "The kubelet owns the pod; the API server only mirrors it.",
		Remedy:  "nothing; only the kubelet can change a static pod",
	},
	{
		Reason: WindowsPod, Severity: Silent,
		Meaning: "Windows pods cannot be resized in place.",
		Remedy:  "nothing",
	},
	{
		Reason: OwnPod, Severity: Silent,
		Meaning: "The pod is one of workload-resizer's own.",
		Remedy:  "nothing, or remove the label `app.kubernetes.io/name: workload-resizer` if the pod is yours",
	},
	{
		Reason: NoRequests, Severity: Silent,
		Meaning: "No container requests cpu or memory, so there is nothing to scale.",
		Remedy:  "nothing, or add requests to the workload if you want the pod resized",
	},
	{
		Reason: NodeNotFound, Severity: Silent,
		Meaning: "The pod's node is unknown.",
		Remedy:  "find out whether the node exists: `kubectl get node NODE`",
	},
	{
		Reason: NodeTypeUnlabelled, Severity: Warning,
		Meaning: "No label of the node names its type.",
		Remedy:  "label the node, or start the server with a `--node-type-label` that the node has",
		See:     "docs/reference/configuration.md#node-types",
	},
	{
		Reason: UnknownNodeType, Severity: Warning,
		Meaning: "The node's type has no ratio.",
		Remedy:  "add the node type to config.yaml, or run `resizectl ratios set TYPE=CPU/MEMORY --create`; CPU and MEMORY are how fast it is, as in `resizectl ratios list`: 1.25 if the baseline has 1 and it is 1.25 times as fast",
		See:     "docs/reference/alerts.md#workloadresizerunknownnodetypes",
	},
	{
		Reason: ImplausibleRatio, Severity: Warning,
		Meaning: "The node's type would be more than `maxSpeedRatio` times faster or slower than the baseline, so its ratio is not used.",
		Remedy:  "correct the ratio, which is usually a typo: `resizectl ratios list` shows its source; or raise `maxSpeedRatio` in config.yaml",
		See:     "docs/reference/configuration.md#implausible-ratios",
	},
	{
		Reason: InvalidAnnotation, Severity: Warning, Traits: Traits{Stays: true},
		Meaning: "An original is missing, unreadable or not trustworthy; the request or limit that depends on it stays unchanged.",
		Remedy:  "let the controller of the pod recreate it with its originals: `kubectl delete pod POD -n NAMESPACE`",
	},
	{
		Reason: QOSClassChange, Severity: Warning, Traits: Traits{Stays: true},
		Meaning: "The resize would change the pod's QoS class, which the API server forbids.",
		Remedy:  "change `bounds` in config.yaml, or the requests and limits of the workload",
	},
	{
		Reason: PodLevelResources, Severity: Warning,
		Meaning: "The pod has pod-level resources (`spec.resources`), which take precedence over the resources of its containers.",
		Remedy:  "nothing; what containers share cannot be scaled one by one",
	},
	{
		Reason: ResourceClaims, Severity: Warning,
		Meaning: "The API server rejects every resize of a pod whose containers use resource claims.",
		Remedy:  "nothing",
	},
	{
		Reason: NodeCapacity, Severity: Warning, Traits: Traits{Stays: true, Waits: OnNode, Restless: true},
		Meaning: "The node has no room for the increase next to its other pods; the resize is retried when there is room.",
		Remedy:  "nothing; it is retried when there is room",
	},
	{
		Reason: NodePressure, Severity: Warning, Traits: Traits{Stays: true, Waits: OnNode},
		Meaning: "The node is under pressure, so nothing is increased until the pressure ends.",
		Remedy:  "relieve the node, whose conditions `kubectl describe node NODE` shows; it is retried then",
	},
	{
		Reason: LimitRangeViolation, Severity: Warning, Traits: Traits{Stays: true, Waits: InNamespace},
		Meaning: "A LimitRange of the namespace forbids the sizes, or would add default requests or limits to them.",
		Remedy:  "change the LimitRange (`kubectl describe limitrange -n NAMESPACE`), or `bounds` in config.yaml",
	},
	{
		Reason: QuotaExceeded, Severity: Warning, Traits: Traits{Stays: true, Waits: InNamespace, Restless: true},
		Meaning: "A ResourceQuota of the namespace has no room for the increase; the resize is retried when there is room.",
		Remedy:  "raise the quota (`kubectl describe quota -n NAMESPACE`); it is retried when there is room",
	},
	{
		Reason: ActiveVPA, Severity: Normal, Traits: Traits{Stays: true, Part: true},
		Meaning: "A VerticalPodAutoscaler sizes the same workload, or the resources in the message, and the two would conflict. It does not size containers whose policy there has `mode: Off`, nor resources that `controlledResources` lacks. One that only boosts the start sizes cpu until the boost ends, as does kube-startup-cpu-boost.",
		Remedy:  "nothing, or remove the VerticalPodAutoscaler, change its update mode to `Off` or `Initial`, or limit its `controlledResources`",
	},
	{
		Reason: ExternallyResized, Severity: Normal, Traits: Traits{Stays: true},
		Meaning: "Another actor set a request or limit of the pod, which stays unless `--externally-resized` says otherwise.",
		Remedy:  "nothing, or start the server with `--externally-resized=override`, which resizes from known originals again, or `--externally-resized=adopt`, which treats the size as right for this node",
		See:     "docs/reference/sizes.md#pods-that-another-actor-resizes",
	},
	{
		Reason: Frozen, Severity: Silent,
		Meaning: "The cluster is frozen: nothing is written to any pod, restores included, until `resizectl unfreeze`.",
		Remedy:  "nothing, or end the freeze: `resizectl unfreeze`; `resizectl status` shows who froze the cluster, when and why",
		See:     "docs/reference/holds.md#freeze",
	},
	{
		Reason: Paused, Severity: Silent,
		Meaning: "Resizing is paused for the pod (`resizectl resume` ends the pause).",
		Remedy:  "nothing, or end the pause: `resizectl resume SCOPE`; `resizectl holds` shows its scope",
	},
	{
		Reason: Degraded, Severity: Warning, Traits: Traits{Stays: true},
		Meaning: "Too many resizes of the workload, or of workloads in the namespace or the cluster, made pods worse and were reverted, so no pod of it is sized until someone resets the breaker (`resizectl resume`). Reverts and restores go on.",
		Remedy:  "find out why the resizes hurt, then reset the breaker: `resizectl resume SCOPE --kind breaker`; `resizectl holds` shows its scope",
		See:     "docs/reference/guard.md#breakers",
	},
	{
		Reason: OutsideSchedule, Severity: Silent, Traits: Traits{Stays: true},
		Meaning: "The schedule of the configuration (`guard.schedule`) resizes the pod at other times.",
		Remedy:  "nothing; the message says when it is resized; or change `guard.schedule` in config.yaml",
		See:     "docs/reference/configuration.md#guard",
	},
	{
		Reason: WaitingForProof, Severity: Silent, Traits: Traits{Stays: true, Part: true, Restless: true},
		Meaning: "A smaller size must prove itself first: on as many other pods of the workload, its canaries, as `guard.maxUnproven` allows; or on the pod itself, one step of `guard.maxChange` after the other. The message says which, and until when.",
		Remedy:  "nothing: the pod is resized after that; or change `guard.maxUnproven` or `guard.maxChange` in config.yaml",
		See:     "docs/reference/guard.md",
	},
	{
		Reason: CanaryReverted, Severity: Normal, Traits: Traits{Stays: true, Part: true, Restless: true},
		Meaning: "The smaller size made another pod of the same version of the workload worse, so the pod keeps its size.",
		Remedy:  "the message says what it did to the other pod: correct the ratio, or the requests and limits of the workload; a different size is tried after `guard.cooldown`",
		See:     "docs/reference/guard.md",
	},
	{
		Reason: AwaitingReadiness, Severity: Silent, Traits: Traits{Stays: true},
		Meaning: "The last resize lowered a size, and the pod became unready after it. It is not resized again until it is ready, or until the resize is reverted.",
		Remedy:  "nothing; if the pod is still not ready after `guard.unready`, the resize is reverted",
		See:     "docs/reference/guard.md",
	},
	{
		Reason: DisruptionBudget, Severity: Silent, Traits: Traits{Stays: true, Part: true, Restless: true, Waits: InNamespace},
		Meaning: "A PodDisruptionBudget allows no more disruptions of the workload's pods now, and a smaller size may disrupt the pod.",
		Remedy:  "nothing: the pod is resized when the budget allows a disruption; if it never does, set `guard.disruptionBudgets: false` in config.yaml for the workload",
		See:     "docs/reference/guard.md",
	},
	{
		Reason: WaitingForTurn, Severity: Silent,
		Meaning: "The pod will be resized, but it is not new, and such pods are resized at the pace of the configuration (`pace`).",
		Remedy:  "nothing: the pod is resized when its turn comes, and `resizectl status` shows how many pods wait; or change `pace` in config.yaml, which takes effect within a second",
		See:     "docs/concepts/pace-and-waiting.md",
	},
	{
		Reason: HPAUtilization, Severity: Silent,
		Meaning: "A HorizontalPodAutoscaler scales the workload by utilization, a percentage of the requests: utilization rises after a decrease and falls after an increase. Usage does not size a resource that it measures.",
		Remedy:  "nothing, or let the HorizontalPodAutoscaler scale by an average value instead",
		See:     "docs/design/usage.md#next-to-a-horizontalpodautoscaler",
	},
	{
		Reason: DemandExceedsNodes, Severity: Normal,
		Meaning: "According to usage, a container needs more than any node of the cluster has. It gets at most that, so that its pod can run again elsewhere.",
		Remedy:  "add larger nodes, or have the workload do less per pod; if the usage is not intended, find out why the container needs as much",
	},
	{
		Reason: StartupBoost, Severity: Silent,
		Meaning: "A container has more cpu than it needs otherwise, because its pod starts (`startup`), or no longer has it. The message says which, and until when at the latest.",
		Remedy:  "nothing, or change `startup` in config.yaml",
		See:     "docs/reference/configuration.md#startup",
	},
	{
		Reason: AnnotationIgnored, Severity: Warning,
		Meaning: "An annotation with an original contradicts the pod's spec, which takes precedence, or `workload-resizer.io/eviction-rank` is invalid, so the pod is not evicted.",
		Remedy:  "find out who writes annotations that begin with `workload-resizer.io/`: `kubectl get pod POD -n NAMESPACE -o yaml --show-managed-fields`",
	},
	{
		Reason: NotMeasured, Severity: Silent,
		Meaning: "How the pod fares since its last resize, or how it fared before, is not known completely, as the message says. Nothing is reverted because of that.",
		Remedy:  "nothing, or run node agents that report usage; for an objective, correct its query in config.yaml or its Prometheus",
		See:     "docs/reference/guard.md",
	},
	{
		Reason: RestartRequired, Severity: Normal, Traits: Traits{Stays: true, Part: true},
		Meaning: "A resource stays unchanged because its resizePolicy would restart the container.",
		Remedy:  "nothing, or set the resizePolicy `NotRequired` in the workload if the container does not need a restart",
	},
	{
		Reason: MemoryLimitKept, Severity: Normal, Traits: Traits{Stays: true, Part: true},
		Meaning: "A memory limit stays unchanged because the API server or the node's kubelet (before Kubernetes 1.34) cannot lower it safely.",
		Remedy:  "nothing, or upgrade the API server and the node to Kubernetes 1.34 or later",
	},
	{
		Reason: InvalidConfig, Severity: Warning,
		Meaning: "On the ConfigMap: its content was rejected; the last good configuration stays in effect.",
		Remedy:  "correct the ConfigMap; `resizectl config validate -f FILE` lists all errors of a configuration or a manifest with it",
	},
}

// Reasons returns all reasons in the order of the reference. The caller may keep and
// change the slice.
func Reasons() []Info { return append([]Info(nil), reasons...) }

// Info returns the documentation of the reason; false if it is not part of the contract.
func (r Reason) Info() (Info, bool) {
	for i := range reasons {
		if reasons[i].Reason == r {
			return reasons[i], true
		}
	}
	return Info{}, false
}

// Severity returns the severity of the reason; Silent if it is not part of the contract.
func (r Reason) Severity() Severity {
	info, _ := r.Info()
	return info.Severity
}

// traits has the traits of each reason.
var traits = func() map[Reason]Traits {
	all := make(map[Reason]Traits, len(reasons))
	for i := range reasons {
		all[reasons[i].Reason] = reasons[i].Traits
	}
	return all
}()

// Traits returns what the planner and the loop must know of the reason.
func (r Reason) Traits() Traits { return traits[r] }
