package feed

// Reason is why a row of a feed is not used.
type Reason string

// The reasons why rows are skipped: they are valid, but do not tell how fast a node type is.
const (
	NoWeight         Reason = "NoWeight"
	UnknownBenchmark Reason = "UnknownBenchmark"
	NotSelected      Reason = "NotSelected"
	NotAllThreads    Reason = "NotAllThreads"
	Incomplete       Reason = "Incomplete"
	Superseded       Reason = "Superseded"
	Inactive         Reason = "Inactive"
	TooOld           Reason = "TooOld"
)

// The reasons why rows are bad.
const (
	Unreadable     Reason = "Unreadable"
	InvalidValue   Reason = "InvalidValue"
	UnknownMachine Reason = "UnknownMachine"
	UnknownVCPUs   Reason = "UnknownVCPUs"
	TooMany        Reason = "TooMany"
)

// ReasonInfo describes a reason for users.
type ReasonInfo struct {
	Reason Reason
	// Bad means that something is wrong with the row.
	Bad     bool
	Meaning string
}

// Reasons lists all reasons.
var Reasons = []ReasonInfo{
	{NoWeight, false, "the test has no weight in the table of suites"},
	{UnknownBenchmark, false, "the table of suites does not have the test: it may not load all vCPUs, or less may be faster"},
	{NotSelected, false, "the feed reads only another benchmark"},
	{NotAllThreads, false, "the run used neither one thread nor all vCPUs, or does not state how many it used"},
	{Incomplete, false, "other tests of the suite are missing for this machine, or no test ran on all vCPUs"},
	{Superseded, false, "a newer row has the same test on the same machine, or enough newer rows are of the same type, CPU model, benchmark, version and number of vCPUs"},
	{Inactive, false, "the publisher has withdrawn the row"},
	{TooOld, false, "the row is older than samples can be"},
	{Unreadable, true, "the row is not text in the format, or is too long"},
	{InvalidValue, true, "a value is missing or invalid"},
	{UnknownMachine, true, "neither the row nor the table of servers names the machine type"},
	{UnknownVCPUs, true, "neither the row, nor the table of servers, nor the name of the machine type has the number of vCPUs"},
	{TooMany, true, "the feed has more machines or samples than are kept"},
}

// isBad reports whether something is wrong with rows that are not used for the reason.
func (r Reason) isBad() bool {
	for _, known := range Reasons {
		if known.Reason == r {
			return known.Bad
		}
	}
	return true
}
