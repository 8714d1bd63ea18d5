#pragma once
// Numbers with units and lists of nodes, as given on the command line.

#include <string>
#include <vector>

namespace lockstep::cli {

/// "100Gbit/s", "12.5 GB/s", "1e9" (bytes): bytes per second. Error(usage) for anything else, and for none.
double parse_bandwidth(const std::string& text);
/// "1us", "500 ns", "2e-6" (seconds): seconds, at least 0.
double parse_latency(const std::string& text);

/// "1,2,4,...,64", "2,4,6,...,12", "3": each once, ascending, from 1 to `most`. The dots go on as the two numbers
/// before them: by their ratio where it is whole, else by their difference.
std::vector<int> parse_nodes(const std::string& text, int most);

/// "1 node", "2 nodes"
std::string nodes_text(int nodes);

/// "1.5 us", "12.3 ms"
std::string time_text(double seconds);

}  // namespace lockstep::cli
