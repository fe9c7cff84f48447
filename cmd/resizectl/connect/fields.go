package connect

import (
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// fieldNames are what users set the fields of requests with: flags and arguments. The first
// match of a field's path counts.
var fieldNames = []struct {
	path *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^what_if\.node_type$`), "--what-if-node-type"},
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
