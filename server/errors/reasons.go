package errors

import (
	"google.golang.org/grpc/codes"
)

// Reasons of any method.
var (
	InvalidArgument     = general(codes.InvalidArgument, "INVALID_ARGUMENT", "a field of the request is missing or invalid; a `BadRequest` names it")
	CredentialsMissing  = general(codes.Unauthenticated, "CREDENTIALS_MISSING", "the caller must identify itself with a token or a certificate")
	CredentialsInvalid  = general(codes.Unauthenticated, "CREDENTIALS_INVALID", "the token or certificate is invalid, has expired, or is not for this server")
	IdentityNotReady    = general(codes.Unavailable, "IDENTITY_NOT_READY", "the API server does not report the identity or the rights of the caller; try again")
	NotAuthorized       = general(codes.PermissionDenied, "NOT_AUTHORIZED", "the caller does not have the right to do this; the message names the right, the namespace, and a role that has the right")
	MethodNotAuthorized = general(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "a bug: no caller has the right to call the method")
	RateLimited         = general(codes.ResourceExhausted, "RATE_LIMITED", "the caller makes more calls than `--max-calls-per-second` allows, or too many new tokens of its ServiceAccount or from its network address have to be checked; the message states which limit, and a `RetryInfo` states when to try again")
	MessageLate         = general(codes.Canceled, "MESSAGE_LATE", "the request did not arrive soon after the call began; send it immediately")
	TooManyPending      = general(codes.ResourceExhausted, "TOO_MANY_PENDING", "too many calls are waiting for their requests to arrive; a `RetryInfo` states when to try again")
	TooManyNamespaces   = general(codes.ResourceExhausted, "TOO_MANY_NAMESPACES", "the caller cannot get pods in all namespaces, and there are too many to check in the time of the call. Call again to continue, name a namespace, or bind the caller to the ClusterRole `view` in all namespaces")
	Standalone          = general(codes.Unimplemented, "STANDALONE", "the server runs with `--standalone`, and the method needs a cluster")
	MethodMoved         = general(codes.Unimplemented, "METHOD_MOVED", "the method has a new name, which the message and the metadata contain; generate the client again from the current API")
	Internal            = general(codes.Internal, "INTERNAL", "a bug; the log of the server has the details")
)

// Reasons why the server cannot return what was requested.
var (
	RatiosNotReady      = of(codes.Unavailable, "RATIOS_NOT_READY", "there is no ratio table yet; the message names what is missing")
	CacheNotReady       = of(codes.Unavailable, "CACHE_NOT_READY", "the server has not read the pods and nodes yet")
	NodeTypeUnknown     = of(codes.NotFound, "NODE_TYPE_UNKNOWN", "the node type has no ratio")
	RuleUnknown         = of(codes.NotFound, "RULE_UNKNOWN", "the configuration has no rule with this name; `ListRatioRules` returns the names")
	TableChanged        = of(codes.Aborted, "TABLE_CHANGED", "the ratio table has changed since the previous page; list again from the first page")
	HoldNotFound        = of(codes.NotFound, "HOLD_NOT_FOUND", "the scope has no hold of this kind")
	PodNotFound         = of(codes.NotFound, "POD_NOT_FOUND", "the pod does not exist")
	NotResized          = of(codes.NotFound, "NOT_RESIZED", "the pod was never sized; its plan states why")
	NamespaceNotVisible = of(codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "the caller does not have the right to get pods in the namespace")
	TooManyPreviews     = of(codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "as many previews of many pods are running as `--max-previews` allows; a `RetryInfo` states when to try again")
	PreviewTooSlow      = of(codes.ResourceExhausted, "PREVIEW_TOO_SLOW", "the caller has read nothing of a stream of plans for a minute")
)

// Reasons why a watch cannot begin or continue.
var (
	ResumeTokenExpired = of(codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "the changes since the token of the watch are not known here: it is too old, or the replica started later; watch again without a token")
	WatchTooSlow       = of(codes.ResourceExhausted, "WATCH_TOO_SLOW", "the caller reads a watch more slowly than changes occur: it has not read a message for ten seconds, or is too many changes behind; watch again from the last token")
	TooManyWatches     = of(codes.ResourceExhausted, "TOO_MANY_WATCHES", "the caller has as many watches as `--max-watches-per-caller` allows; end one first")
	ShuttingDown       = of(codes.Unavailable, "SHUTTING_DOWN", "the server is shutting down and ends its watches; watch on another replica")
)

// Reasons why holds and the freeze cannot be read, created or ended.
var (
	HoldsNotReady    = of(codes.Unavailable, "HOLDS_NOT_READY", "holds cannot be read or written now; the message states why")
	HoldsMissing     = of(codes.FailedPrecondition, "HOLDS_MISSING", "the ConfigMap for holds does not exist; your manifests create it (`deploy/base`, any overlay, the chart)").about("holds")
	HoldsInvalid     = of(codes.FailedPrecondition, "HOLDS_INVALID", "the content of that ConfigMap is invalid, and the server does not overwrite it").about("holds")
	HoldsRefused     = of(codes.FailedPrecondition, "HOLDS_REFUSED", "the API server refuses to change that ConfigMap; the message states why").about("holds")
	FreezeNotReady   = of(codes.Unavailable, "FREEZE_NOT_READY", "the freeze cannot be read or written now; the message states why")
	FreezeRefused    = of(codes.FailedPrecondition, "FREEZE_REFUSED", "the API server refuses to change the ConfigMap for the freeze; the message states why").about("freeze")
	TooManyHolds     = of(codes.ResourceExhausted, "TOO_MANY_HOLDS", "there is no room for another hold; pause or restore namespaces instead of single pods")
	HeldByWiderScope = of(codes.FailedPrecondition, "HELD_BY_WIDER_SCOPE", "the pods to resume have no hold of their own, but a wider hold covers them; the message names it").about("scope")
	ReadOnly         = of(codes.FailedPrecondition, "READ_ONLY", "the server runs with `--dry-run` and stores no holds, freezes, overrides, samples or usage").about("server")
)

// Reasons why overrides cannot be read or changed.
var (
	OverridesDisabled = of(codes.FailedPrecondition, "OVERRIDES_DISABLED", "the server runs without the source `override` (`--ratio-sources`)").about("server")
	OverridesNotReady = of(codes.Unavailable, "OVERRIDES_NOT_READY", "overrides cannot be read or written now; the message states why")
	OverridesMissing  = of(codes.FailedPrecondition, "OVERRIDES_MISSING", "the ConfigMap for overrides does not exist; your manifests create it (`deploy/base`, any overlay, the chart)").about("overrides")
	OverridesInvalid  = of(codes.FailedPrecondition, "OVERRIDES_INVALID", "the content of that ConfigMap is invalid, and the server does not overwrite it").about("overrides")
	OverridesRefused  = of(codes.FailedPrecondition, "OVERRIDES_REFUSED", "the API server refuses to change that ConfigMap; the message states why").about("overrides")
	TooManyOverrides  = of(codes.ResourceExhausted, "TOO_MANY_OVERRIDES", "there is no room for another override; move permanent overrides to the configuration")
	NoOverride        = of(codes.NotFound, "NO_OVERRIDE", "the node type has no override; to create one, set `allow_missing`")
	EtagMismatch      = of(codes.Aborted, "ETAG_MISMATCH", "another caller made a change first; the metadata contain the current `etag` or `ratioEtag` of the `nodeType`, or the `newestChange`")
	BaselineInUse     = of(codes.FailedPrecondition, "BASELINE_IN_USE", "the baseline would have no ratio, because no other source has one for it").about("ratio")
	ImplausibleRatio  = of(codes.FailedPrecondition, "IMPLAUSIBLE_RATIO", "the change would make node types faster or slower than the baseline by more than `maxSpeedRatio`, so their pods would not be resized; the message names up to ten of them; to make the change anyway, set `allow_implausible`").about("ratio")
	ChangeNotKept     = of(codes.OutOfRange, "CHANGE_NOT_KEPT", "the change to roll back to is no longer kept, or never existed")
)

// Reasons why benchmarks cannot be read, or samples cannot be stored.
var (
	BenchmarksDisabled = of(codes.FailedPrecondition, "BENCHMARKS_DISABLED", "the server runs without the source `benchmark` (`--ratio-sources`)").about("server")
	BenchmarksNotReady = of(codes.Unavailable, "BENCHMARKS_NOT_READY", "the server has not read the samples yet; the message names what is missing")
	NodeUnknown        = of(codes.NotFound, "NODE_UNKNOWN", "the cluster has no node with this name; if it is new, try again")
	NodeNotYours       = of(codes.PermissionDenied, "NODE_NOT_YOURS", "the token of the caller is bound to a different node, which is the only one that it can act for")
	NoSuggestion       = of(codes.NotFound, "NO_SUGGESTION", "neither benchmarks nor production cover the node type")
	SamplesNotWritable = of(codes.FailedPrecondition, "SAMPLES_NOT_WRITABLE", "a ConfigMap for samples does not exist or is invalid, or the API server refuses to change it; the message names it, and `deploy/base` creates all of them").about("samples")
	SamplesNotStored   = of(codes.Unavailable, "SAMPLES_NOT_STORED", "samples cannot be written now; send all of them again: those that were stored are not counted twice")
)

// Reasons why usage is not known, or cannot be reported.
var (
	UsageDisabled = of(codes.FailedPrecondition, "USAGE_DISABLED", "the server uses no sources of usage (`--usage-sources`)").about("server")
	UsageUnknown  = of(codes.NotFound, "USAGE_UNKNOWN", "nothing was measured of the workload or container in the time that history is kept for, and no running pod counts for the workload")
	PushDisabled  = of(codes.FailedPrecondition, "PUSH_DISABLED", "the server does not use the source `push` (`--usage-sources`)").about("server")
	NotCollecting = of(codes.Unavailable, "NOT_COLLECTING", "this replica does not collect usage: it does not lead, or has not read the history yet; connect again, so that another replica may answer")
	TooMuchUsage  = of(codes.ResourceExhausted, "TOO_MUCH_USAGE", "more usage has arrived than was counted; send it again later")
)
