package errors

import (
	"google.golang.org/grpc/codes"
)

// What any method answers.
var (
	InvalidArgument     = general(codes.InvalidArgument, "INVALID_ARGUMENT", "a field of the request is missing or bad; a `BadRequest` names it")
	CredentialsMissing  = general(codes.Unauthenticated, "CREDENTIALS_MISSING", "the caller has to say who it is, by a token or a certificate")
	CredentialsInvalid  = general(codes.Unauthenticated, "CREDENTIALS_INVALID", "the token or certificate is bad, has expired, or is not for this server")
	IdentityNotReady    = general(codes.Unavailable, "IDENTITY_NOT_READY", "the API server does not say who calls, or what they may do; try again")
	NotAuthorized       = general(codes.PermissionDenied, "NOT_AUTHORIZED", "the caller has no right to this; the message names the right, where, and a role that has it")
	MethodNotAuthorized = general(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "a bug: nobody may call the method")
	RateLimited         = general(codes.ResourceExhausted, "RATE_LIMITED", "the caller makes more calls than `--max-calls-per-second` lets it, or too many tokens that nobody knows come from where it is; a `RetryInfo` says when to try again")
	Standalone          = general(codes.FailedPrecondition, "STANDALONE", "the server runs with `--standalone`, and the method needs a cluster").about("server")
	Internal            = general(codes.Internal, "INTERNAL", "a bug; the server's log has the details")
)

// What is asked for cannot be told.
var (
	RatiosNotReady      = of(codes.Unavailable, "RATIOS_NOT_READY", "there are no ratios yet; the message says what is missing")
	CacheNotReady       = of(codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")
	NodeTypeUnknown     = of(codes.NotFound, "NODE_TYPE_UNKNOWN", "the node type has no ratio")
	PodNotFound         = of(codes.NotFound, "POD_NOT_FOUND", "there is no such pod")
	NotResized          = of(codes.NotFound, "NOT_RESIZED", "the pod was never sized; its plan says why")
	NamespaceNotVisible = of(codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "the caller may not get pods in the namespace that is named")
	TooManyPreviews     = of(codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "as many previews of many pods run as `--max-previews` lets; a `RetryInfo` says when to try again")
	PreviewTooSlow      = of(codes.ResourceExhausted, "PREVIEW_TOO_SLOW", "nothing of a stream of plans was read for a minute")
)

// A watch cannot begin, or not go on.
var (
	ResumeTokenExpired = of(codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "the token of a watch is too old or from another replica: watch again without one")
	WatchTooSlow       = of(codes.ResourceExhausted, "WATCH_TOO_SLOW", "the caller did not read a watch as fast as things change: watch again from the last token")
	TooManyWatches     = of(codes.ResourceExhausted, "TOO_MANY_WATCHES", "the caller has as many watches as `--max-watches-per-caller` lets it: end one first")
	ShuttingDown       = of(codes.Unavailable, "SHUTTING_DOWN", "the server ends, and its watches with it: go on at another one")
)

// Nothing can be held or resumed.
var (
	HoldsNotReady    = of(codes.Unavailable, "HOLDS_NOT_READY", "what is restored or paused cannot be read or written; the message says why")
	HoldsMissing     = of(codes.FailedPrecondition, "HOLDS_MISSING", "the ConfigMap to write holds to does not exist; `deploy/base` has it").about("holds")
	HoldsInvalid     = of(codes.FailedPrecondition, "HOLDS_INVALID", "the content of that ConfigMap is bad, and is not overwritten").about("holds")
	HoldsRefused     = of(codes.FailedPrecondition, "HOLDS_REFUSED", "the API server refuses to have that ConfigMap changed; the message says why").about("holds")
	TooManyHolds     = of(codes.ResourceExhausted, "TOO_MANY_HOLDS", "there is no room for another hold; hold namespaces instead of pods")
	HeldByWiderScope = of(codes.FailedPrecondition, "HELD_BY_WIDER_SCOPE", "the pods to resume have no hold of their own, a wider one covers them; the message names it").about("scope")
	ReadOnly         = of(codes.FailedPrecondition, "READ_ONLY", "the server runs with `--dry-run`, holds nothing, sets no ratios and keeps no samples").about("server")
)

// No ratio can be set.
var (
	OverridesDisabled = of(codes.FailedPrecondition, "OVERRIDES_DISABLED", "the server runs without the source `override` (`--ratio-sources`)").about("server")
	OverridesNotReady = of(codes.Unavailable, "OVERRIDES_NOT_READY", "overrides cannot be read or written; the message says why")
	OverridesMissing  = of(codes.FailedPrecondition, "OVERRIDES_MISSING", "the ConfigMap to write overrides to does not exist; `deploy/base` has it").about("overrides")
	OverridesInvalid  = of(codes.FailedPrecondition, "OVERRIDES_INVALID", "the content of that ConfigMap is bad, and is not overwritten").about("overrides")
	OverridesRefused  = of(codes.FailedPrecondition, "OVERRIDES_REFUSED", "the API server refuses to have that ConfigMap changed; the message says why").about("overrides")
	TooManyOverrides  = of(codes.ResourceExhausted, "TOO_MANY_OVERRIDES", "there is no room for another override; write those that stay into the configuration")
	NoOverride        = of(codes.NotFound, "NO_OVERRIDE", "the node type has no override to delete")
	EtagMismatch      = of(codes.Aborted, "ETAG_MISMATCH", "somebody else was faster; the metadata have the present `etag` of the `nodeType`, or the `newestChange`")
	BaselineInUse     = of(codes.FailedPrecondition, "BASELINE_IN_USE", "a baseline would have no ratio, for no other source names it").about("ratio")
	ChangeNotKept     = of(codes.OutOfRange, "CHANGE_NOT_KEPT", "the change to go back to is not kept any more, or never was")
)

// Benchmarks cannot be told, or samples not be kept.
var (
	BenchmarksDisabled = of(codes.FailedPrecondition, "BENCHMARKS_DISABLED", "the server runs without the source `benchmark` (`--ratio-sources`)").about("server")
	BenchmarksNotReady = of(codes.Unavailable, "BENCHMARKS_NOT_READY", "what was measured is not read yet; the message says what is missing")
	NoSuggestion       = of(codes.NotFound, "NO_SUGGESTION", "no benchmark tells anything of the node type")
	SamplesNotWritable = of(codes.FailedPrecondition, "SAMPLES_NOT_WRITABLE", "a ConfigMap to keep samples in does not exist, is bad, or the API server refuses to have it changed; the message says which, and `deploy/base` has them").about("samples")
	SamplesNotStored   = of(codes.Unavailable, "SAMPLES_NOT_STORED", "samples cannot be written now; send all of them again, those that were stored are known")
)
