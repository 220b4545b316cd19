/// The sections of a report. Each is "" if there is nothing to show. Internal.
#pragma once

#include <string>
#include <string_view>

#include "espalier/report/run_page.h"

namespace espalier::report {

std::string confusion_html(const Confusion& confusion);
std::string residuals_html(const Residuals& residuals);
std::string mistakes_html(const RunReport& report);
std::string data_html(const std::vector<DataSplit>& data);
std::string settings_html(const std::vector<std::pair<std::string, std::string>>& settings);
std::string time_html(const RunReport& report);
std::string batching_html(const Statistics& statistics);

}  // namespace espalier::report
