package connect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// explain rewrites connection errors for the user. It leaves other errors and the server's
// own messages as they are, but removes gRPC's wording.
func (c *Connection) explain(err error) error {
	var answer interface{ GRPCStatus() *status.Status }
	var broken *client.BrokenStreamError
	isStatus, isBroken := errors.As(err, &answer), errors.As(err, &broken)
	switch {
	case c.timeout > 0 && status.Code(err) == codes.DeadlineExceeded && client.Reason(err) == "":
		return fmt.Errorf("no complete answer from %s within %s; allow more time with --timeout (0 for no limit)%s", c.where(), c.timeout, c.mayAsk())
	case isBroken:
		return fmt.Errorf("the answer from %s ended early, after %s, so it is not complete: %s; run the command again",
			c.where(), print.CountOf(int64(broken.Received), "pod"), MessageOf(broken.Err))
	case client.IsUnreachable(err):
		cause := dialCause(MessageOf(err))
		// While a plugin asks, calls fail because of the connection before.
		return fmt.Errorf("no workload-resizer server answers at %s: %s; %s%s", c.where(), cause, c.remedy(cause), c.mayAsk())
	case status.Code(err) == codes.Unauthenticated:
		return fmt.Errorf("%s cannot authenticate you: %s; %s", c.where(), MessageOf(err), c.identityHint())
	case status.Code(err) == codes.Unimplemented && client.Reason(err) == "":
		return errors.New("the server does not know this command, so it is older than this resizectl: update the server; \"resizectl version\" shows both versions")
	case isStatus:
		return errors.New(RefusedBecause(err))
	}
	return err
}

// mayAsk says that a plugin for credentials may wait for an answer of the user, who may look elsewhere; empty if there is none.
func (c *Connection) mayAsk() string {
	if inCluster, _ := c.inCluster(); inCluster {
		if plugin := c.kube.plugin(); plugin != "" {
			return ", or, if the credential plugin " + plugin + " asks something in the terminal of this command, answer it there"
		}
	}
	return ""
}

// where names the server that is called.
func (c *Connection) where() string {
	if inCluster, _ := c.inCluster(); inCluster {
		return "Service " + c.service
	}
	address, _, _ := c.address() // It was dialed, so it is known.
	return address
}

// remedy returns what the user can do about a failed connection.
func (c *Connection) remedy(cause string) string {
	inCluster, _ := c.inCluster()
	switch {
	case strings.Contains(cause, "unknown authority"):
		return "if you know that this is your server, name the authority of its certificate with --certificate-authority"
	case strings.Contains(cause, "x509: certificate is "), strings.Contains(cause, "x509: cannot validate certificate for"):
		return "use an address that the certificate is for, or set its name with --tls-server-name"
	case strings.Contains(cause, "does not look like a TLS handshake"):
		return "the server does not use TLS; --plaintext connects without it, but then anyone on the network path can read everything"
	case strings.Contains(cause, "server preface") && !strings.Contains(cause, "connection refused"):
		return "the server may use TLS: name the authority of its certificate with --certificate-authority"
	case strings.Contains(cause, "no running pod is behind"):
		return "install or start the server, or name its Service with --service"
	case inCluster:
		return c.readLogs()
	}
	return c.startOrSelect()
}

// readLogs returns how to find out why a server in a cluster does not answer.
func (c *Connection) readLogs() string {
	return "check whether its pods are ready, and read their logs; list them with: kubectl" + c.given(kubectlFlags) + " -n " + c.Namespace() + " get pods"
}

// startOrSelect returns how to get a server other than the one that does not answer.
func (c *Connection) startOrSelect() string {
	return "start a server with \"workload-resizer serve\", use the server of a cluster with --context or --service, " +
		"or set another address with " + c.addressFrom()
}

// addressFrom returns what sets the address of a server.
func (c *Connection) addressFrom() string {
	if c.plugin {
		return "--server"
	}
	return "--server or " + serverVariable
}

// identityHint returns how to authenticate.
func (c *Connection) identityHint() string {
	const token = "provide a token with --token-file or " + tokenVariable
	account, _ := c.askAs()
	if inCluster, _ := c.inCluster(); inCluster && account == "" {
		return "authenticate as a ServiceAccount, such as --service-account-token " + c.Namespace() + "/workload-resizer-viewer, or " + token
	}
	return token + ", or a certificate with --client-certificate and --client-key"
}

// MessageOf returns the server's message, if err is from a server.
func MessageOf(err error) string {
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) {
		return err.Error()
	}
	s := answer.GRPCStatus()
	if s.Message() == "" {
		return "the server gave no reason other than " + s.Code().String()
	}
	return s.Message()
}

// dialCause returns the part of gRPC's message about a failed connection that helps the
// user, e.g. "dial tcp 127.0.0.1:7443: connect: connection refused". It leaves messages of
// another form as they are.
func dialCause(message string) string {
	for _, before := range []string{"Error while dialing: ", "authentication handshake failed: ", `connection error: desc = "`} {
		if _, cause, ok := strings.Cut(message, before); ok {
			return strings.ReplaceAll(strings.TrimSuffix(cause, `"`), `\"`, `"`)
		}
	}
	return message
}

// Hints say what to do next, by the reason of the server's error. Reasons whose message says
// so itself are not here. For users who are not authenticated, see identityHint, which knows
// how they called.
var Hints = map[string]string{
	"STANDALONE":            "a standalone server only lists ratios and plans manifests (\"resizectl ratios list\", \"resizectl plan -f\"); for the rest, use the server of a cluster: set --context or --service, or its address with --server",
	"CACHE_NOT_READY":       "the server has just started: run the command again in a moment",
	"NODE_TYPE_UNKNOWN":     "\"resizectl ratios list\" lists the node types; \"resizectl ratios set --create\" adds a new one",
	"POD_NOT_FOUND":         "check its name and its namespace; \"resizectl plan --all-namespaces\" lists all pods",
	"NOT_RESIZED":           "\"resizectl explain POD\" shows why",
	"NAMESPACE_NOT_VISIBLE": "a RoleBinding in that namespace to the ClusterRole view allows it",
	"TOO_MANY_NAMESPACES":   "run the command again to continue, or set --namespace",
	"TOO_MANY_PREVIEWS":     "run the command again in a moment",
	"TABLE_CHANGED":         "run the command again in a moment",
	"PREVIEW_TOO_SLOW":      "write the output to a file first, and read the file",
	"HELD_BY_WIDER_SCOPE":   "\"resizectl holds\" lists the holds",
	"READ_ONLY":             "use a server that runs without --dry-run",
	"NO_OVERRIDE":           "\"resizectl ratios list\" shows the source of each ratio; with --ignore-not-found, this is not an error",
	"ETAG_MISMATCH":         "see the latest changes with \"resizectl ratios history\", and run the command again if your change is still right",
	"IMPLAUSIBLE_RATIO":     "to make the change anyway, set --allow-implausible: pods on node types that are not used keep their sizes",
	"CHANGE_NOT_KEPT":       "\"resizectl ratios history --limit 0\" lists the changes that are kept",
	"NO_SUGGESTION":         "\"resizectl ratios suggest\" lists the suggestions, \"resizectl benchmark list\" the measurements, \"resizectl usage sources\" whether usage is collected",
	"BENCHMARKS_NOT_READY":  "\"resizectl ratios list\" shows what is wrong with the source benchmark; if the server has just started, run the command again in a moment",
	"USAGE_UNKNOWN":         "\"resizectl usage\" lists the workloads that have pods, and \"resizectl usage sources\" shows whether usage is collected",
	"SAMPLES_NOT_STORED":    "run the command again in a moment: samples that were stored are not counted twice",
}

// BothPerformances is the advice about a node type that no source names.
const BothPerformances = "set both performances, cpu and memory, as in TYPE=1.08/1.0"

// methodPath matches advice that names an API method, which does not help the user.
var methodPath = regexp.MustCompile(`(; [^;]*)? for /[\w.]+/\w+$`)

// RefusedBecause returns the server's message, and what to do next.
func RefusedBecause(err error) string {
	if missing := missingPerformance(err); missing != "" {
		return missing + "; " + BothPerformances
	}
	message := methodPath.ReplaceAllString(inWordsOfCLI(err), "")
	if hint, ok := Hints[client.Reason(err)]; ok {
		message += "; " + hint
	}
	return message
}

// missingPerformance returns the server's message about a node type without a ratio to take
// a performance from; empty if err is another error. The name of the field in the API would
// not help the user.
func missingPerformance(err error) string {
	for _, detail := range status.Convert(err).Details() {
		request, ok := detail.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, violation := range request.GetFieldViolations() {
			says, missing := strings.CutPrefix(violation.GetDescription(), "must be set: ")
			if missing && strings.HasSuffix(violation.GetField(), "_perf") {
				return says
			}
		}
	}
	return ""
}

// fieldNames are what users set the fields of requests with: flags and arguments. The first
// match of a field's path counts.
var fieldNames = []struct {
	path *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^what_if\.node_type$`), "--what-if-node-type"},
	{regexp.MustCompile(`^what_if\.production_mode$`), "--what-if-production-mode"},
	{regexp.MustCompile(`^what_if\.baseline_node_type$`), "--what-if-baseline"},
	{regexp.MustCompile(`^what_if\.ratios\b`), "--what-if-ratio"},
	{regexp.MustCompile(`^what_if\.bounds\.(cpu|memory)\.(min|max)$`), "--what-if-$2-$1"},
	{regexp.MustCompile(`^what_if\.bounds\.(cpu|memory)$`), "the range from --what-if-min-$1 to --what-if-max-$1"},
	{regexp.MustCompile(`^what_if\b`), "--what-if"},
	{regexp.MustCompile(`^server_side$`), "--server-side-preview"},
	{regexp.MustCompile(`^node_types\b`), "--node-type"},
	{regexp.MustCompile(`^label_selector$`), "--selector"},
	{regexp.MustCompile(`^(?:.*\.)?node_type$`), "the node type"},
	{regexp.MustCompile(`^(?:.*\.)?instance_type$`), "the instance type"},
	{regexp.MustCompile(`^(?:.*\.)?node$`), "the node"},
	{regexp.MustCompile(`^(?:.*\.)?cpu_perf$`), "the CPU performance"},
	{regexp.MustCompile(`^(?:.*\.)?memory_perf$`), "the memory performance"},
	{regexp.MustCompile(`^(?:.*\.)?expire_time$`), "the time in --for or --until"},
	{regexp.MustCompile(`^(?:.*\.)?(?:ratio_)?etag$`), "--etag"},
	{regexp.MustCompile(`^(?:requests\[\d+\]\.)?update_mask\b`), "the list of values to set"},
	{regexp.MustCompile(`^(?:requests\b.*|override)$`), "a ratio"},
	{regexp.MustCompile(`^ttl$`), "--for"},
	{regexp.MustCompile(`^emergency$`), "--emergency"},
	{regexp.MustCompile(`^(?:.*\.)?reason$`), "--reason"},
	{regexp.MustCompile(`^(?:.*\.)?author$`), "your name"},
	{regexp.MustCompile(`^to_change$`), "--to"},
	{regexp.MustCompile(`^states\b`), "--state"},
	{regexp.MustCompile(`^order_by$`), "--order-by"},
	{regexp.MustCompile(`^kind$`), "--kind"},
	{regexp.MustCompile(`^(?:scope\.(?:pod\.|workload\.)?)?namespace$`), "--namespace"},
	{regexp.MustCompile(`^(?:scope\.)?pod(?:\.name)?$`), "the name of the pod"},
	{regexp.MustCompile(`^(?:scope\.)?workload\.kind$`), "the type of the workload"},
	{regexp.MustCompile(`^(?:scope\.)?workload\b`), "the name of the workload"},
	{regexp.MustCompile(`^scope\b`), "the selection of pods"},
	{regexp.MustCompile(`^manifest$`), "the manifest"},
}

// wordings replace advice in the words of the API.
var wordings = []struct {
	api *regexp.Regexp
	cli string
}{
	{regexp.MustCompile(`set one in what_if\.ratios, or use a node type that ListRatios returns`), "use one of these, or set its ratio with --what-if-ratio"},
	{regexp.MustCompile(`is an empty range: min (\S+) is above max ([^\s;]+); set both, or "0" for no bound`), "is empty: $1 is above $2; set both, or 0 for no bound"},
	{regexp.MustCompile(`cannot be combined with what_if\b`), "cannot be combined with --what-if flags"},
	{regexp.MustCompile(`must be in the future; for no expiry, leave it unset and name it in update_mask`), "must be in the future; --until never removes the end"},
	{regexp.MustCompile(`does not match regex pattern \S*_\.@\S*`), "must consist of letters, digits and _ . @ -, and begin and end with a letter or digit"},
	{regexp.MustCompile(`does not match regex pattern \S+`), "is not a valid name"},
	{regexp.MustCompile(`set validate_only\b`), "set --dry-run"},
}

// fieldName returns what sets a field; the path of a field that is not known here.
func fieldName(path string) string {
	for _, f := range fieldNames {
		if match := f.path.FindStringSubmatchIndex(path); match != nil {
			return string(f.path.ExpandString(nil, f.name, path, match))
		}
	}
	return path
}

// inWordsOfCLI returns the server's message with flags and arguments instead of the fields of
// the request.
func inWordsOfCLI(err error) string {
	message := MessageOf(err)
	for _, detail := range status.Convert(err).Details() {
		request, ok := detail.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, violation := range request.GetFieldViolations() {
			message = strings.Replace(message, violation.GetField()+" "+violation.GetDescription(), fieldName(violation.GetField())+" "+violation.GetDescription(), 1)
		}
	}
	for _, w := range wordings {
		message = w.api.ReplaceAllString(message, w.cli)
	}
	return message
}

// Commands adds the flags that select the cluster to each command of kubectl, and those that select the server and
// the user to each one of resizectl. Without them, the user would change another cluster. calledAs is what
// users write for resizectl.
func (c *Connection) Commands(text, calledAs string) string {
	return strings.NewReplacer(
		"kubectl ", "kubectl"+c.given(kubectlFlags)+" ",
		"resizectl ", calledAs+c.given(clusterFlags)+c.given(serverFlags)+" ",
	).Replace(text)
}

// given returns the flags that are set or pinned, as users write them after the name of a program.
func (c *Connection) given(names []string) (text string) {
	for _, name := range names {
		value, set := c.pinned[name]
		if flag := c.flags.Lookup(name); !set && flag.Changed {
			value, set = flag.Value.String(), true
		}
		if set {
			text += " --" + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	return text
}

// DefaultNamespace is the namespace of the server that deploy/base installs.
var DefaultNamespace, _, _ = strings.Cut(defaultService, "/")

// FreezeCommand returns the command that freezes the cluster of a server in this namespace, even
// if the server does not answer, and regardless of whether the ConfigMap exists.
func FreezeCommand(namespace string) string {
	return "kubectl create configmap " + contract.DefaultNames.Freeze + " -n " + namespace + " --from-literal=frozen=true --dry-run=client -o yaml | kubectl apply --server-side --force-conflicts -f -"
}

// UnfreezeCommand returns the command that ends the freeze, if there is one.
func UnfreezeCommand(namespace string) string {
	return "kubectl delete configmap " + contract.DefaultNames.Freeze + " -n " + namespace + " --ignore-not-found"
}

// Namespace returns the namespace of the server, as far as the flags name it.
func (c *Connection) Namespace() string {
	namespace, _, _ := strings.Cut(c.service, "/")
	return namespace
}
