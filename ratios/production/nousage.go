package production

const (
	// NoUsage means that the server collects no usage, from which everything here follows: start it with a source in `--usage-sources`.
	NoUsage = "NoUsage"
)

// withoutUsage is why nothing is known of any node type if no usage is collected.
var withoutUsage = Doubt{NoUsage, "the server collects no usage, so that nothing can be compared: start it with a source in --usage-sources, such as metrics"}
